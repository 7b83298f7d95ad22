import { Argument, Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { describeCommands } from '../../src/completion/describe-commands.js';

function createProgram(): Command {
  const program = new Command('tool').option('-v, --verbose', 'say more');
  program
    .command('first')
    .description('the one without a name')
    .option('--key <FILE>', 'a key')
    .addOption(new Option('--secret').hideHelp())
    .addOption(new Option('--level <LEVEL>', 'how much').choices(['low', 'high']));
  program
    .command('second')
    .description('another')
    .argument('<path...>', 'what')
    .option('-n, --name <TEXT>', 'any');
  program.command('third').addArgument(new Argument('<kind>', 'which').choices(['x', 'y']));
  program.command('fourth').argument('[command...]', 'what to run');
  program.command('gone', { hidden: true });
  return program;
}

const HELP = { flags: ['-h', '--help'], description: 'display help for command' };
const FIRST = [
  { flags: ['--key'], description: 'a key', value: { name: 'FILE', completion: 'path' } },
  { flags: ['--level'], description: 'how much', value: { name: 'LEVEL', completion: ['low', 'high'] } },
];

it('knows what the help knows', () => {
  expect(describeCommands(createProgram(), 'first')).toEqual({
    name: 'tool',
    options: [{ flags: ['-v', '--verbose'], description: 'say more' }, HELP, ...FIRST],
    commands: [
      { name: 'first', description: 'the one without a name', options: [...FIRST, HELP] },
      {
        name: 'second',
        description: 'another',
        options: [
          { flags: ['-n', '--name'], description: 'any', value: { name: 'TEXT', completion: 'text' } },
          HELP,
        ],
        argument: 'path',
      },
      { name: 'third', description: '', options: [HELP], argument: ['x', 'y'] },
      { name: 'fourth', description: '', options: [HELP], argument: 'command' },
      {
        name: 'help',
        description: 'display help for command',
        options: [],
        argument: ['first', 'second', 'third', 'fourth', 'help'],
      },
    ],
  });
});
