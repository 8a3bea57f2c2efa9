declare module 'html-encoding-sniffer' {
  /** The canonical name of a page's encoding: by its byte order mark, the label the server gave, or what its first KB declares, in this order. */
  function htmlEncodingSniffer(bytes: Uint8Array, options?: { readonly transportLayerEncodingLabel?: string; readonly defaultEncoding?: string }): string
  export = htmlEncodingSniffer
}
