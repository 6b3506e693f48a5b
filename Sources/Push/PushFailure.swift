/// What is wrong with an RTMP output, in the words of the error catalogue.
package enum PushFailure: String, Sendable, CaseIterable {
    /// No connection, or it ended.
    case unreachable = "outputUnreachable"
    /// The server said no.
    case refused = "outputRefused"
    /// It took the connection, and then nothing.
    case wedged = "outputWedged"
}
