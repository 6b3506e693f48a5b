package import NIOCore
package import PipelineSpec
package import WebRTC

extension ICEAddress {
    /// The address of a UDP or TCP socket; nil for other kinds.
    package init?(_ address: SocketAddress, isTCP: Bool = false) {
        guard let ip = address.ipAddress.flatMap({ IPAddress($0) }), let port = address.port else { return nil }
        self.init(bytes: ip.bytes, port: UInt16(clamping: port), isTCP: isTCP)
    }

    /// The address without its port.
    package var ipAddress: IPAddress? { IPAddress(bytes: self.bytes) }
}
