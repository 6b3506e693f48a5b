package import HTTPListener
package import MediaTypes
import NIOCore
import PipelineSpec
package import TLSFiles
package import WebRTC

/// Settings of a room's listener for WebRTC publishers (WHIP).
package struct WebRTCSettings: Sendable {
    /// `HOST:PORT` of the HTTP listener; port 0 lets the system choose.
    package var listen: String
    /// Certificate of the HTTP listener; nil: no TLS.
    package var certificates: CertificateStore?
    /// `HOST:PORT` of the UDP socket of all publishers; port 0 lets the system choose. Clients whose network blocks UDP connect
    /// to the same port by TCP.
    package var udp: String
    /// Addresses at which publishers reach the UDP socket, as IP literals without brackets; empty: the address that it is
    /// bound to, which then must not be a wildcard.
    package var publicAddresses: [String] = []
    /// STUN and TURN servers that publishers are given.
    package var iceServers: [WHIPSettings.ICEServer] = []
    /// Origins of web pages that may publish; `*`: all.
    package var allowedOrigins = ["*"]
    /// Highest bit rate of video in bits per second that publishers are asked to send; nil: their own limit.
    package var maxBitrate: Int?
    /// Replies to `GET` and `HEAD` of other paths than `/whip/…`, such as the files of a page that publishes; nil: 404. The path is
    /// without query.
    package var page: (@Sendable (_ path: String) -> ListenerReply?)?

    package init(listen: String, udp: String) {
        self.listen = listen
        self.udp = udp
    }
}

extension WebRTCSettings {
    /// The candidates of every answer.
    ///
    /// - Parameters:
    ///   - bound: Address of the UDP socket.
    ///   - hasTCP: Whether a TCP socket has the same port.
    /// - Throws: ``MediaError/Code/rejected`` if there is no address that publishers could reach, or an entry is not an IP
    ///   address.
    func candidates(bound: SocketAddress?, hasTCP: Bool) throws(MediaError) -> [AnswerSettings.Candidate] {
        try AnswerSettings.Candidate.hosts(
            self.publicAddresses, bound: bound, hasTCP: hasTCP, at: "ingest.webrtc", for: "publishers")
    }
}

extension WebRTCSettings {
    /// Maximum number of addresses of a pipeline and a variable together; those after it are ignored.
    package static let mostAddresses = 16

    /// The addresses of a pipeline and those of an environment variable, each once.
    ///
    /// - Parameters:
    ///   - variable: Name of a variable with addresses separated by commas; nil: none.
    ///   - environment: Returns the value of a variable; nil if it is not set.
    /// - Throws: ``MediaError/Code/notReadable`` if the variable is not set or empty, ``MediaError/Code/rejected`` if one of
    ///   its entries is not a usable IP address.
    package static func publicAddresses(
        _ written: [String], variable: String?, environment: (String) -> String?
    ) throws(MediaError) -> [String] {
        guard let variable else { return written }
        let place = "ingest.webrtc.publicAddressesEnv"
        let entries = (environment(variable) ?? "").split(separator: ",").map { entry in
            String(entry.filter { !$0.isWhitespace })
        }.filter { !$0.isEmpty }
        guard !entries.isEmpty else {
            throw MediaError(
                .notReadable, "environment variable \(variable) is not set, or empty", at: place,
                fix: "set the variable, or list the addresses in publicAddresses")
        }
        guard entries.allSatisfy({ IPAddress($0).map { !$0.isUnspecified } ?? false }) else {
            throw MediaError(
                .rejected, "environment variable \(variable) contains an entry that is not a usable IP address",
                at: place, fix: "set it to IP addresses separated by commas")
        }
        var addresses: [String] = []
        for entry in written + entries where !addresses.contains(entry) { addresses.append(entry) }
        return Array(addresses.prefix(Self.mostAddresses))
    }
}
