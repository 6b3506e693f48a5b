import MediaTypes
import NIOCore
import PipelineSpec
import WebRTC

/// Settings of a room's server for WebRTC viewers (WHEP).
package struct WHEPSettings: Sendable {
    /// `HOST:PORT` of the UDP socket of all viewers; port 0 lets the system choose.
    package var udp: String
    /// The feed that `/whep` plays.
    package var rendition: String
    /// Addresses at which viewers reach the UDP socket, as IP literals without brackets; empty: the address that it is bound
    /// to, which then must not be a wildcard.
    package var publicAddresses: [String]
    /// Viewers at the same time, connected or not yet.
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
    /// - Parameter bound: Address of the UDP socket.
    /// - Throws: ``MediaError/Code/rejected`` if there is no address that viewers could reach.
    func candidates(bound: SocketAddress?) throws(MediaError) -> [AnswerSettings.Candidate] {
        let port = UInt16(clamping: bound?.port ?? 0)
        var addresses = self.publicAddresses
        if addresses.isEmpty, let own = bound?.ipAddress, let ip = IPAddress(own), !ip.isUnspecified {
            addresses = [own]
        }
        let literals = addresses.compactMap { IPAddress($0)?.description }
        guard !literals.isEmpty, literals.count == addresses.count else {
            throw MediaError(
                .rejected,
                addresses.isEmpty
                    ? "the UDP socket is bound to every address, so it is not known where viewers can send"
                    : "an entry is not an IP address", at: "\(Self.place).publicAddresses",
                fix: "list the IP addresses of this machine that viewers can reach")
        }
        return literals.map { AnswerSettings.Candidate(address: $0, port: port) }
    }
}
