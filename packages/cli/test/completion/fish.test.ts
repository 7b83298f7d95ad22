import { expect, it } from 'vitest';
import { generateFishCompletion } from '../../src/completion/fish.js';

it('has a line for each command, option and argument', () => {
  const script = generateFishCompletion({
    name: 'tool',
    options: [{ flags: ['-v', '--verbose'], description: "don't \\ be silent" }],
    commands: [
      {
        name: 'get',
        description: 'get it',
        argument: 'path',
        options: [
          {
            flags: ['--level'],
            description: 'how much',
            value: { name: 'LEVEL', completion: ['low', 'high'] },
          },
          { flags: ['-n'], description: 'any', value: { name: 'TEXT', completion: 'text' } },
        ],
      },
      { name: 'run', description: 'run it', argument: 'command', options: [] },
      { name: 'end', description: 'end it', options: [] },
    ],
  });
  expect(script.split('\n').slice(1)).toEqual([
    'complete -c tool -f',
    "complete -c tool -n '__fish_use_subcommand' -s v -l verbose -d 'don\\'t \\\\ be silent'",
    "complete -c tool -n __fish_use_subcommand -a get -d 'get it'",
    "complete -c tool -n '__fish_seen_subcommand_from get' -l level -d 'how much' -r -a 'low high'",
    "complete -c tool -n '__fish_seen_subcommand_from get' -s n -d 'any' -r",
    "complete -c tool -n '__fish_seen_subcommand_from get' -F",
    "complete -c tool -n __fish_use_subcommand -a run -d 'run it'",
    "complete -c tool -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand)'",
    "complete -c tool -n __fish_use_subcommand -a end -d 'end it'",
    '',
  ]);
});
