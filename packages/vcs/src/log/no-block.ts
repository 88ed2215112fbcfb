/** The block of a version that holds none. */
export const noBlock = -1;
