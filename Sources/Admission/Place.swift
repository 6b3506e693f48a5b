package import PipelineSpec

/// What counts as one sender: an IPv4 address, or the /64 an IPv6 address lies in, which one customer has whole.
package struct Place: Sendable, Hashable, Comparable {
    private let range: AddressRange

    package init(_ address: IPAddress) {
        self.range = AddressRange(address: address, bits: address.isIPv4 ? 32 : 64)
    }

    /// An order without a meaning, so that ties are always broken alike.
    package static func < (one: Place, other: Place) -> Bool { one.range.description < other.range.description }
}
