import LibAV
import MediaTypes

/// The SRT listener of a room.
package struct SRTSettings: Sendable {
    /// `HOST:PORT` of UDP; port 0 lets the system choose.
    package var listen: String
    /// Milliseconds in which lost packets can be sent again. The greater wish of the two sides holds.
    package var latencyMs = 120
    /// Whoever comes must encrypt with it; nil: nobody may.
    package var passphrase: String?
    /// Bytes of the key that is made of it: 16, 24 or 32.
    package var keyLength = 16

    package init(listen: String) { self.listen = listen }

    /// What libavformat listens on for one publisher.
    ///
    /// - Parameter port: UDP port of 127.0.0.1.
    func listener(port: Int) -> TransportReader.Address {
        var options = [("latency", "\(self.latencyMs * 1000)"), ("tlpktdrop", "1")]
        if let passphrase = self.passphrase {
            options += [("passphrase", passphrase), ("pbkeylen", "\(self.keyLength)")]
        }
        return TransportReader.Address(url: "srt://127.0.0.1:\(port)?mode=listener", options: options)
    }
}

extension SRTURL {
    /// What libavformat connects to.
    var caller: TransportReader.Address {
        var options = [("latency", "\(self.latencyMs * 1000)"), ("tlpktdrop", "1"), ("connect_timeout", "3000")]
        if !self.streamID.isEmpty { options.append(("streamid", self.streamID)) }
        if !self.passphrase.isEmpty { options.append(("passphrase", self.passphrase)) }
        if self.keyLength > 0 { options.append(("pbkeylen", "\(self.keyLength)")) }
        return TransportReader.Address(url: "\(self.redacted)?mode=caller", options: options)
    }
}
