/// Why a publication ended.
package enum UnpublishReason: Sendable, Hashable {
    /// The encoder said so.
    case client
    /// The connection went away without a word.
    case disconnected
    /// The server ended it.
    case closed(RTMPFailure)
}
