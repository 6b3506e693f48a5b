import LibAV
import MediaTypes

/// Settings of a room's SRT listener.
package struct SRTSettings: Sendable {
    /// `HOST:PORT` of the listener's UDP socket; with port 0, the system chooses the port.
    package var listen: String
    /// SRT latency in milliseconds: the time in which lost packets can be retransmitted. The greater value of the two
    /// sides applies.
    package var latencyMs = 120
    /// Callers must encrypt with this passphrase; nil: callers must not encrypt.
    package var passphrase: String?
    /// Length of the encryption key in bytes: 16, 24 or 32.
    package var keyLength = 16

    package init(listen: String) { self.listen = listen }

    /// Returns the address and options with which libavformat listens for one publisher.
    ///
    /// - Parameter port: UDP port of 127.0.0.1.
    func listener(port: Int) -> MPEGTSReader.Address {
        var options = [("latency", "\(self.latencyMs * 1000)"), ("tlpktdrop", "1")]
        if let passphrase = self.passphrase {
            options += [("passphrase", passphrase), ("pbkeylen", "\(self.keyLength)")]
        }
        return MPEGTSReader.Address(url: "srt://127.0.0.1:\(port)?mode=listener", options: options)
    }
}

extension SRTURL {
    /// The address and options with which libavformat connects to the SRT listener of this URL.
    var caller: MPEGTSReader.Address {
        var options = [("latency", "\(self.latencyMs * 1000)"), ("tlpktdrop", "1"), ("connect_timeout", "3000")]
        if !self.streamID.isEmpty { options.append(("streamid", self.streamID)) }
        if !self.passphrase.isEmpty { options.append(("passphrase", self.passphrase)) }
        if self.keyLength > 0 { options.append(("pbkeylen", "\(self.keyLength)")) }
        return MPEGTSReader.Address(url: "\(self.redacted)?mode=caller", options: options)
    }
}
