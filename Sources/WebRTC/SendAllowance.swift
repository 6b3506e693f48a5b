/// Limits what is sent to addresses that have not proved that they receive it: never more bytes than came from there.
///
/// A connectivity check proves that its sender knows the password, not that it has the address: a client could forge the
/// sender address of its checks. TCP proves an address by itself.
///
/// Pure.
package struct SendAllowance: Sendable {
    private struct Entry: Sendable {
        let address: ICEAddress
        /// Bytes that were received and not yet answered; nil: the address has proved itself.
        var left: Int?
    }

    /// Maximum number of remembered addresses, as many as an ``ICELiteAgent`` knows. A forgotten one begins again with 0 bytes.
    private static let mostAddresses = 8

    private var entries: [Entry] = []

    package init() {}

    /// Whether any number of bytes may be sent to the address.
    package func isProven(_ address: ICEAddress) -> Bool { self.left(for: address) == .max }

    /// Bytes that may be sent to the address; `Int.max` once it has proved itself.
    package func left(for address: ICEAddress) -> Int {
        if address.isTCP { return .max }
        guard let entry = self.entries.first(where: { $0.address == address }) else { return 0 }
        return entry.left ?? .max
    }

    /// Records that a datagram arrived from the address.
    package mutating func received(_ bytes: Int, from address: ICEAddress) {
        if let index = self.entries.firstIndex(where: { $0.address == address }) {
            self.entries[index].left? += bytes
        } else if !address.isTCP {
            self.add(Entry(address: address, left: bytes))
        }
    }

    /// Records that the address has answered something that was sent there, so that any number of bytes may be sent.
    package mutating func prove(_ address: ICEAddress) {
        if let index = self.entries.firstIndex(where: { $0.address == address }) {
            self.entries[index].left = nil
        } else if !address.isTCP {
            self.add(Entry(address: address, left: nil))
        }
    }

    /// - Returns: Whether a datagram may be sent to the address; if so, it counts as sent.
    package mutating func spend(_ bytes: Int, on address: ICEAddress) -> Bool {
        if address.isTCP { return true }
        guard let index = self.entries.firstIndex(where: { $0.address == address }) else { return false }
        guard let left = self.entries[index].left else { return true }
        guard bytes <= left else { return false }
        self.entries[index].left = left - bytes
        return true
    }

    /// Addresses that have not proved themselves are forgotten first.
    private mutating func add(_ entry: Entry) {
        if self.entries.count >= Self.mostAddresses {
            self.entries.remove(at: self.entries.firstIndex { $0.left != nil } ?? 0)
        }
        self.entries.append(entry)
    }
}
