/** How many pairs of numbers have this sum. */
export function pairsWithSum(numbers, sum) {
  let count = 0;
  for (let left = 0; left < numbers.length; left++) {
    for (let right = left + 1; right < numbers.length; right++) {
      if (numbers[left] + numbers[right] === sum) count += 1;
    }
  }
  return count;
}
