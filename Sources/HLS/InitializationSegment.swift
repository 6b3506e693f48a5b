/// An initialization segment as playlists refer to it, by its URI.
///
/// Spec: rfc8216bis §4.4.4.5 (`EXT-X-MAP`).
package struct InitializationSegment: Sendable, Hashable {
    package let uri: String

    package init(uri: String) { self.uri = uri }
}
