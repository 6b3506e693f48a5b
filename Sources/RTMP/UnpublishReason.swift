/// Why a publication ended.
package enum UnpublishReason: Sendable, Hashable {
    /// The encoder ended the publication.
    case client
    /// The connection ended without an unpublish command.
    case disconnected
    /// The server ended the publication because of this failure.
    case closed(RTMPFailure)
}
