/// A status from the server: `onStatus` or `_error`.
package struct RTMPClientStatus: Sendable, Hashable {
    /// Status code with which a server asks the client to reconnect.
    package static let reconnectRequest = "NetConnection.Connect.ReconnectRequest"

    /// Level of the status, from the server: `status`, `warning` or `error`. Default: `error` for `_error`, otherwise
    /// `status`.
    package let level: String
    /// Status code, such as `NetStream.Publish.Denied`.
    package let code: String
    /// Human-readable description of the status, from the server.
    package let text: String
    /// URL of the app to which the server redirects the client; nil if none.
    package let redirect: String?

    package init(level: String, code: String, text: String, redirect: String? = nil) {
        self.level = level
        self.code = code
        self.text = text
        self.redirect = redirect
    }
}
