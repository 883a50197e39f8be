export const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

export const isUrl = (location: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(location);
