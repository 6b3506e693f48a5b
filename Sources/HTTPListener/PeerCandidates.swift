package import MediaTypes
package import NIOCore
import PipelineSpec
package import WebRTC

extension AnswerSettings.Candidate {
    /// The candidates of every answer of a server: UDP, then TCP.
    ///
    /// - Parameters:
    ///   - publicAddresses: IP literals without brackets; empty: the address that the socket is bound to, which then must not be a
    ///     wildcard.
    ///   - bound: Address of the UDP socket.
    ///   - hasTCP: Whether a TCP socket has the same port.
    ///   - place: The pipeline object that contains `publicAddresses`, as a path for errors.
    ///   - peers: Who connects, in the plural.
    /// - Throws: ``MediaError/Code/rejected`` if there is no address that peers could reach, or an entry is not an IP address.
    package static func hosts(
        _ publicAddresses: [String], bound: SocketAddress?, hasTCP: Bool, at place: String, for peers: String
    ) throws(MediaError) -> [AnswerSettings.Candidate] {
        let port = UInt16(clamping: bound?.port ?? 0)
        var addresses = publicAddresses
        if addresses.isEmpty, let own = bound?.ipAddress, let ip = IPAddress(own), !ip.isUnspecified {
            addresses = [own]
        }
        let literals = addresses.compactMap { IPAddress($0)?.description }
        guard !literals.isEmpty, literals.count == addresses.count else {
            throw MediaError(
                .rejected,
                addresses.isEmpty
                    ? "the UDP socket is bound to every address, so it is not known where \(peers) can send"
                    : "an entry is not an IP address", at: "\(place).publicAddresses",
                fix: "list the IP addresses of this machine that \(peers) can reach")
        }
        return [false, true].filter { hasTCP || !$0 }.flatMap { isTCP in
            literals.map { AnswerSettings.Candidate(address: $0, port: port, isTCP: isTCP) }
        }
    }
}
