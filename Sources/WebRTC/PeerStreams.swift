/// The TCP connections of a server's sessions (ICE-TCP): to which session a connection belongs, and by which connection an
/// address of a session is reached.
///
/// A connection is unknown → begun by its first check for a session, so that the check can be answered → bound, if the check
/// is valid. A session has at most ``most`` connections.
///
/// Pure: `Stream` is a connection, `Owner` has the session.
package struct PeerStreams<Stream: AnyObject, Owner: AnyObject> {
    /// Maximum number of connections of one session. Clients have few network interfaces.
    package static var most: Int { 8 }

    private var streams: [ObjectIdentifier: [ICEAddress: Stream]] = [:]
    private var owners: [ObjectIdentifier: Owner] = [:]

    package init() {}

    /// The session to which a connection is bound; nil before.
    package func owner(of stream: Stream) -> Owner? { self.owners[ObjectIdentifier(stream)] }

    /// The connection of an address of a session.
    package subscript(address: ICEAddress, owner: Owner) -> Stream? {
        self.streams[ObjectIdentifier(owner)]?[address]
    }

    /// The first check of a connection has arrived, for this session.
    ///
    /// - Returns: False if the session has too many connections, or one of this address.
    package mutating func begin(_ stream: Stream, at address: ICEAddress, of owner: Owner) -> Bool {
        let known = self.streams[ObjectIdentifier(owner)] ?? [:]
        guard known.count < Self.most, known[address] == nil else { return false }
        self.streams[ObjectIdentifier(owner), default: [:]][address] = stream
        return true
    }

    /// The first check of a connection was valid: all its packets belong to the session.
    package mutating func bind(_ stream: Stream, to owner: Owner) { self.owners[ObjectIdentifier(stream)] = owner }

    /// Removes a connection that was closed, or whose first check was not valid.
    ///
    /// - Parameter owner: The session of the check; nil: the session that the connection is bound to.
    /// - Returns: The session that has lost the address; nil if there is none.
    @discardableResult
    package mutating func remove(_ stream: Stream, at address: ICEAddress, of owner: Owner? = nil) -> Owner? {
        guard let owner = self.owners.removeValue(forKey: ObjectIdentifier(stream)) ?? owner,
            self[address, owner] === stream
        else { return nil }
        self.forget(address, of: ObjectIdentifier(owner))
        return owner
    }

    /// Removes the connections of a session for whose addresses `isOver` returns true, and returns them. Must be called for
    /// all of them before the memory of the session is freed.
    package mutating func removeAll(of owner: Owner, where isOver: (ICEAddress) -> Bool = { _ in true }) -> [Stream] {
        let leaving = (self.streams[ObjectIdentifier(owner)] ?? [:]).filter { isOver($0.key) }
        for (address, stream) in leaving {
            self.owners[ObjectIdentifier(stream)] = nil
            self.forget(address, of: ObjectIdentifier(owner))
        }
        return Array(leaving.values)
    }

    private mutating func forget(_ address: ICEAddress, of owner: ObjectIdentifier) {
        self.streams[owner]?[address] = nil
        if self.streams[owner]?.isEmpty == true { self.streams[owner] = nil }
    }
}
