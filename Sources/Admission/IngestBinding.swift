package import MediaTypes

/// Which stream key belongs to which source; a source may have several, so that a new one can be given out before the old
/// one goes.
package struct IngestBinding: Sendable, Hashable {
    package let source: SourceID
    /// What follows the app in the URL. A key with `?` is compared with the query too.
    package let streamKey: String

    package init(source: SourceID, streamKey: String) {
        self.source = source
        self.streamKey = streamKey
    }
}
