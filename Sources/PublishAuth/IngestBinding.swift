package import MediaTypes

/// Binds a stream key to a source. A source may have several keys, so that a new one can be given out before the old
/// one is removed.
package struct IngestBinding: Sendable, Hashable {
    package let source: SourceID
    /// The part of the URL after the app. A key with `?` is compared with the query too.
    package let streamKey: String

    package init(source: SourceID, streamKey: String) {
        self.source = source
        self.streamKey = streamKey
    }
}
