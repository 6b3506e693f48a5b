/// What a server says in `onStatus` or `_error`.
package struct RTMPClientStatus: Sendable, Hashable {
    /// The server wants the client to connect anew.
    package static let reconnectRequest = "NetConnection.Connect.ReconnectRequest"

    /// `status`, `warning` or `error`.
    package let level: String
    /// Such as `NetStream.Publish.Denied`.
    package let code: String
    /// For people to read.
    package let text: String
    /// Where the server would have the client go instead, as a URL of an app.
    package let redirect: String?

    package init(level: String, code: String, text: String, redirect: String? = nil) {
        self.level = level
        self.code = code
        self.text = text
        self.redirect = redirect
    }
}
