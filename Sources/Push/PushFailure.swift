/// The kind of failure of an RTMP output, as a code of the error catalogue.
package enum PushFailure: String, Sendable, CaseIterable {
    /// The connection could not be made, it ended, the server does not speak RTMP, or it asks to reconnect too often.
    case unreachable = "outputUnreachable"
    /// The server refused the publication.
    case refused = "outputRefused"
    /// The server accepted the connection, but does not accept the stream in time, or reads or acknowledges no data.
    case wedged = "outputWedged"
}
