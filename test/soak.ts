/** Whether this is `npm run test:soak`, which takes every case where CI takes some. */
export const SOAK = process.env['CADRE_SOAK'] === '1'
