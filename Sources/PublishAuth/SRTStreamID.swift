package import RTMP

/// Reads the stream id that an SRT caller sends in its handshake. It contains the stream key.
///
/// Forms: `KEY`, `APP/KEY`, either with `?QUERY` appended, `publish:KEY`, and `#!::r=…,m=publish,u=…` (SRT Access
/// Control Guidelines). In the last form, `r` contains what the other forms have; if there is no `r`, `u` does. Pure.
package enum SRTStreamID {
    package enum Reading: Sendable, Hashable {
        case publish(StreamAddress)
        /// The caller wants to play, or asks for another mode that is not supported.
        case otherMode
        /// The stream id cannot be parsed.
        case malformed
    }

    /// Maximum length of a stream id in bytes (SRT: `SRTO_STREAMID`).
    package static let maximumLength = 512

    /// Reads a stream id.
    ///
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
            default: break  // Host, session, type and unknown names are not needed.
            }
        }
        let name = resource.flatMap { $0.isEmpty ? nil : $0 } ?? user ?? ""
        return self.address(name, app)
    }

    private static func address(_ name: Substring, _ app: String) -> Reading {
        let name = String(name.hasPrefix("/") ? name.dropFirst() : name)
        guard !name.isEmpty else { return .malformed }
        // The app may be missing, because encoders have one field for app and key.
        let address =
            name.hasPrefix("\(app)/")
            ? StreamAddress(app: "", streamName: name)
            : StreamAddress(app: app, streamName: name)
        return address.map { .publish($0) } ?? .malformed
    }
}

extension PublishRefusal {
    /// The rejection code for an SRT handshake: 1000 plus an HTTP status code (SRT Access Control Guidelines).
    package var srtCode: Int {
        switch self {
        case .address: 1403
        case .busy: 1409
        case .kicked, .quarantined: 1423
        case .ended, .handedOver, .undecided: 1503
        default: 1401
        }
    }
}
