package import PipelineSpec

/// A client network, which limits count as one client: an IPv4 address, or the /64 prefix of an IPv6 address, which
/// usually belongs to one customer.
package struct Place: Sendable, Hashable, Comparable {
    private let range: AddressRange

    package init(_ address: IPAddress) {
        self.range = AddressRange(address: address, bits: address.isIPv4 ? 32 : 64)
    }

    /// Orders networks in an arbitrary but stable way, so that ties are always resolved alike.
    package static func < (one: Place, other: Place) -> Bool { one.range.description < other.range.description }
}
