package import RTMP

/// What an SRT caller says it wants, and as whom: the stream id in its handshake, which holds the stream key.
///
/// Read as `KEY`, `APP/KEY`, either with `?QUERY` behind it, `publish:KEY`, and `#!::r=…,m=publish,u=…` (SRT Access Control
/// Guidelines), where `r` names the stream as the other forms do, and `u` does when there is no `r`. Pure.
package enum SRTStreamID {
    package enum Reading: Sendable, Hashable {
        case publish(StreamAddress)
        /// It wants to play, or something else that nobody can do here.
        case otherMode
        /// Not to be read.
        case malformed
    }

    /// Longest one, in bytes (SRT: `SRTO_STREAMID`).
    package static let maximumLength = 512

    /// - Parameter app: Application name of the listener.
    package static func read(_ text: String, app: String) -> Reading {
        guard text.utf8.count <= self.maximumLength else { return .malformed }
        guard text.hasPrefix("#!::") else {
            if text.hasPrefix("read:") || text.hasPrefix("request:") { return .otherMode }
            let name = text.hasPrefix("publish:") ? text.dropFirst("publish:".count) : text[...]
            return self.address(name, app)
        }
        var resource: Substring?
        var user: Substring?
        for item in text.dropFirst("#!::".count).split(separator: ",") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return .malformed }
            switch parts[0] {
            case "r": resource = parts[1]
            case "u": user = parts[1]
            case "m": guard parts[1] == "publish" else { return .otherMode }
            default: break  // Host, session and type say nothing that matters, nor do names of others.
            }
        }
        let name = resource.flatMap { $0.isEmpty ? nil : $0 } ?? user ?? ""
        return self.address(name, app)
    }

    private static func address(_ name: Substring, _ app: String) -> Reading {
        let name = String(name.hasPrefix("/") ? name.dropFirst() : name)
        guard !name.isEmpty else { return .malformed }
        // With the app or without it: an encoder has one field for both.
        let address =
            name.hasPrefix("\(app)/")
            ? StreamAddress(app: "", streamName: name)
            : StreamAddress(app: app, streamName: name)
        return address.map { .publish($0) } ?? .malformed
    }
}

extension PublishRefusal {
    /// The code for an SRT handshake: a thousand, and HTTP's number for it (SRT Access Control Guidelines).
    package var srtCode: Int {
        switch self {
        case .address: 1403
        case .busy: 1409
        case .kicked, .quarantined: 1423
        case .ended, .undecided: 1503
        default: 1401
        }
    }
}
