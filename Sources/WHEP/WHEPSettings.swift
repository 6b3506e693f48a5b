import HTTPListener
import MediaTypes
import NIOCore
import WebRTC

/// Settings of a room's server for WebRTC viewers (WHEP).
package struct WHEPSettings: Sendable {
    /// `HOST:PORT` of the UDP socket of all viewers; port 0 lets the system choose. Viewers whose network blocks UDP connect to
    /// the same port by TCP.
    package var udp: String
    /// The feed that `/whep` plays.
    package var rendition: String
    /// Addresses at which viewers reach the UDP socket, as IP literals without brackets; empty: the address that it is bound
    /// to, which then must not be a wildcard.
    package var publicAddresses: [String]
    /// Maximum number of viewers at the same time, connected or not yet.
    package var maxViewers: Int

    package init(udp: String, rendition: String, publicAddresses: [String] = [], maxViewers: Int = 100) {
        self.udp = udp
        self.rendition = rendition
        self.publicAddresses = publicAddresses
        self.maxViewers = maxViewers
    }
}

extension WHEPSettings {
    static let place = "outputs[webrtc]"

    /// The candidates of every answer.
    ///
    /// - Parameters:
    ///   - bound: Address of the UDP socket.
    ///   - hasTCP: Whether a TCP socket has the same port.
    /// - Throws: ``MediaError/Code/rejected`` if there is no address that viewers could reach, or an entry is not an IP
    ///   address.
    func candidates(bound: SocketAddress?, hasTCP: Bool) throws(MediaError) -> [AnswerSettings.Candidate] {
        try AnswerSettings.Candidate.hosts(
            self.publicAddresses, bound: bound, hasTCP: hasTCP, at: Self.place, for: "viewers")
    }
}
