package import PipelineSpec

/// Writes the PROXY header with which the edge names the publisher to the room.
///
/// Spec: The PROXY protocol, version 1 (HAProxy, proxy-protocol.txt §2.1).
package enum ProxyText {
    /// Returns the header, with its line end.
    ///
    /// - Parameters:
    ///   - source: The publisher's address; nil: unknown, and the header names no client.
    ///   - port: The publisher's port.
    ///   - target: The address that the publisher connected to; nil: unknown.
    ///   - targetPort: The port that the publisher connected to.
    package static func header(source: IPAddress?, port: Int, target: IPAddress?, targetPort: Int) -> [UInt8] {
        guard let source, let port = UInt16(exactly: port), let targetPort = UInt16(exactly: targetPort) else {
            return Array("PROXY UNKNOWN\r\n".utf8)
        }
        // Both addresses must be of one family. The target is not used by rooms, so an unspecified one is enough.
        let unspecified = source.isIPv4 ? "0.0.0.0" : "::"
        let known = target.flatMap { $0.isIPv4 == source.isIPv4 ? $0.description : nil } ?? unspecified
        let family = source.isIPv4 ? "TCP4" : "TCP6"
        return Array("PROXY \(family) \(source) \(known) \(port) \(targetPort)\r\n".utf8)
    }
}
