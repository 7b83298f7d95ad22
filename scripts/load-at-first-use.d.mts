export function loadAtFirstUse(code: string): string;
