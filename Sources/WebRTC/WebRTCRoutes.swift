/// Finds the session of a datagram: of a connectivity check by our user name fragment in it, of others by their sender. Also
/// has the socket address of each address of a session.
///
/// An address belongs to one session at a time: to the one that claimed it last, unless another one kept it. A session
/// has at most ``most`` addresses after ``prune(_:isKnown:)``, so the table is bounded by the number of sessions.
///
/// `Remote` is a socket address, `Owner` has the session.
package struct WebRTCRoutes<Remote: Hashable, Owner: AnyObject> {
    /// The session of a sender's datagrams.
    package struct Route {
        package let owner: Owner
        package let address: ICEAddress
    }

    private struct Names {
        var ufrags: [String] = []
        var remotes: [ICEAddress: Remote] = [:]
    }

    /// Number of addresses that a session may have before those that are no longer known are removed; twice the number
    /// that ``ICELiteAgent`` knows.
    package static var most: Int { 16 }

    private var routes: [Remote: Route] = [:]
    private var ufrags: [String: Owner] = [:]
    private var names: [ObjectIdentifier: Names] = [:]

    package init() {}

    /// Number of senders whose datagrams have a session.
    package var count: Int { self.routes.count }

    package subscript(remote: Remote) -> Route? { self.routes[remote] }

    /// The session that is found by a user name fragment of this side.
    package func owner(ofUfrag ufrag: String) -> Owner? { self.ufrags[ufrag] }

    /// Number of addresses that a session has.
    package func addressCount(of owner: Owner) -> Int { self.names[ObjectIdentifier(owner)]?.remotes.count ?? 0 }

    /// Where to send datagrams for an address of a session; nil if nothing came from there.
    package func remote(of address: ICEAddress, _ owner: Owner) -> Remote? {
        self.names[ObjectIdentifier(owner)]?.remotes[address]
    }

    /// Finds the session by these user name fragments, and no longer by earlier ones.
    package mutating func find(_ owner: Owner, by ufrags: [String]) {
        let earlier = self.names[ObjectIdentifier(owner)]?.ufrags ?? []
        guard ufrags != earlier else { return }
        for ufrag in earlier where self.ufrags[ufrag] === owner { self.ufrags[ufrag] = nil }
        for ufrag in ufrags { self.ufrags[ufrag] = owner }
        self.names[ObjectIdentifier(owner), default: Names()].ufrags = ufrags
    }

    /// A connectivity check for the session arrived from the address. It can be answered; other datagrams from there
    /// get no session yet.
    package mutating func checked(_ address: ICEAddress, at remote: Remote, _ owner: Owner) {
        self.names[ObjectIdentifier(owner), default: Names()].remotes[address] = remote
    }

    /// Datagrams from the address belong to the session from now on, unless another session keeps it.
    ///
    /// - Parameter isKept: Whether the session that has the address keeps it.
    /// - Returns: Whether they belong to the session.
    @discardableResult
    package mutating func claim(_ address: ICEAddress, by owner: Owner, isKept: (Owner) -> Bool) -> Bool {
        guard let remote = self.remote(of: address, owner) else { return false }
        if let other = self.routes[remote]?.owner, other !== owner, isKept(other) { return false }
        self.routes[remote] = Route(owner: owner, address: address)
        return true
    }

    /// Removes the addresses of a session that are not known to it, if it has too many or `checked` is none of the known.
    package mutating func prune(_ owner: Owner, after checked: ICEAddress, isKnown: (ICEAddress) -> Bool) {
        if self.addressCount(of: owner) > Self.most || !isKnown(checked) { self.prune(owner, isKnown: isKnown) }
    }

    /// Removes the addresses of a session that are not known to it.
    package mutating func prune(_ owner: Owner, isKnown: (ICEAddress) -> Bool) {
        for (address, remote) in self.names[ObjectIdentifier(owner)]?.remotes ?? [:] where !isKnown(address) {
            self.names[ObjectIdentifier(owner)]?.remotes[address] = nil
            self.removeRoute(remote, of: owner)
        }
    }

    /// Removes a session with all its addresses and user name fragments. Must be called before the session's memory is freed.
    package mutating func remove(_ owner: Owner) {
        self.find(owner, by: [])
        for remote in (self.names.removeValue(forKey: ObjectIdentifier(owner))?.remotes ?? [:]).values {
            self.removeRoute(remote, of: owner)
        }
    }

    private mutating func removeRoute(_ remote: Remote, of owner: Owner) {
        if self.routes[remote]?.owner === owner { self.routes[remote] = nil }
    }
}
