package import NIOCore
package import WebRTC

/// Finds the session of a datagram by its sender, and the socket address of each address of a session.
///
/// An address belongs to one session at a time: to the one that claimed it last, unless another one kept it. A session
/// has at most ``most`` addresses after ``prune(_:isKnown:)``, so the table is bounded by the number of sessions.
package struct WebRTCRoutes<Owner: AnyObject> {
    /// The session of a sender's datagrams.
    package struct Route {
        package let owner: Owner
        package let address: ICEAddress
    }

    /// Number of addresses that a session may have before those that are no longer known are removed; twice the number
    /// that ``ICELiteAgent`` knows.
    package static var most: Int { 16 }

    private var routes: [SocketAddress: Route] = [:]
    private var remotes: [ObjectIdentifier: [ICEAddress: SocketAddress]] = [:]

    package init() {}

    /// Number of senders whose datagrams have a session.
    package var count: Int { self.routes.count }

    package subscript(remote: SocketAddress) -> Route? { self.routes[remote] }

    /// Number of addresses that a session has.
    package func addressCount(of owner: Owner) -> Int { self.remotes[ObjectIdentifier(owner)]?.count ?? 0 }

    /// Where to send datagrams for an address of a session; nil if nothing came from there.
    package func remote(of address: ICEAddress, _ owner: Owner) -> SocketAddress? {
        self.remotes[ObjectIdentifier(owner)]?[address]
    }

    /// A connectivity check for the session arrived from the address. It can be answered; other datagrams from there
    /// get no session yet.
    package mutating func checked(_ address: ICEAddress, at remote: SocketAddress, _ owner: Owner) {
        self.remotes[ObjectIdentifier(owner), default: [:]][address] = remote
    }

    /// Datagrams from the address belong to the session from now on, unless another session keeps it.
    ///
    /// - Parameter isKept: Whether the session that has the address keeps it.
    /// - Returns: Whether they do.
    @discardableResult
    package mutating func claim(_ address: ICEAddress, by owner: Owner, isKept: (Owner) -> Bool) -> Bool {
        guard let remote = self.remote(of: address, owner) else { return false }
        if let other = self.routes[remote]?.owner, other !== owner, isKept(other) { return false }
        self.routes[remote] = Route(owner: owner, address: address)
        return true
    }

    /// Removes the addresses of a session that are not known to it.
    package mutating func prune(_ owner: Owner, isKnown: (ICEAddress) -> Bool) {
        for (address, remote) in self.remotes[ObjectIdentifier(owner)] ?? [:] where !isKnown(address) {
            self.remotes[ObjectIdentifier(owner)]?[address] = nil
            self.removeRoute(remote, of: owner)
        }
    }

    /// Removes a session with all its addresses. Must be called before the session's memory is freed.
    package mutating func remove(_ owner: Owner) {
        for remote in (self.remotes.removeValue(forKey: ObjectIdentifier(owner)) ?? [:]).values {
            self.removeRoute(remote, of: owner)
        }
    }

    private mutating func removeRoute(_ remote: SocketAddress, of owner: Owner) {
        if self.routes[remote]?.owner === owner { self.routes[remote] = nil }
    }
}
