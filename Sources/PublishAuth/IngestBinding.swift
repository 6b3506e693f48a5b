package import MediaTypes

/// Binds a stream key to a source. A source may have several keys, so that a new one can be given out before the old
/// one is removed.
package struct IngestBinding: Sendable, Hashable {
    package let source: SourceID
    /// The stream key: the part of the publish URL after the app. If the key contains `?`, the query of the URL must
    /// match too.
    package let streamKey: String

    package init(source: SourceID, streamKey: String) {
        self.source = source
        self.streamKey = streamKey
    }
}
