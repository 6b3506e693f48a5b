package import MediaKernels
package import MediaTypes

/// Where an output's files go: a directory, or anything that takes whole objects by name.
///
/// One writer at a time. Names hold no path separator.
package protocol SegmentStore: Sendable {
    /// Makes the place ready.
    ///
    /// - Throws: ``MediaError/Code/notCreatable``.
    func prepare() throws(MediaError)

    /// Makes `pieces`, one after the other, the content of `name`: readers see the old or the new object, never a part of it.
    ///
    /// - Parameter durable: Must survive a crash of the machine once this returns.
    /// - Throws: ``MediaError/Code/outputLost``; the old content stays then.
    func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError)

    /// As ``put(_:_:durable:)``, for nobody but this user to read, and durable.
    func keep(secret name: String, _ bytes: [UInt8]) throws(MediaError)

    /// Makes `bytes` the beginning of `name` in place, which needs no space where the object is there already and not smaller. A
    /// reader at the same time may see a part of it.
    ///
    /// - Throws: ``MediaError/Code/outputLost``.
    func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError)

    /// Removes `name`; nothing happens where it is not there.
    func remove(_ name: String) throws(MediaError)

    /// The content of `name`; `nil` where it is not there or cannot be read.
    func read(_ name: String) -> [UInt8]?

    /// The first bytes of `name`, at most `prefix` of them; `nil` where it is not there or cannot be read.
    func read(_ name: String, prefix: Int) -> [UInt8]?

    /// `name` is there.
    func contains(_ name: String) -> Bool

    /// Bytes of `name`; `nil` where it is not there.
    func size(of name: String) -> Int?

    /// Where a reader on this machine finds the object; `nil` if it cannot.
    func path(of name: String) -> String?

    /// The objects of these names, and that they are there, survive a crash of the machine once this returns.
    ///
    /// - Throws: ``MediaError/Code/outputLost``.
    func synchronize(_ names: [String]) throws(MediaError)

    /// The place as it is now; `nil` where it cannot be told from another one.
    func hold() -> (any HeldPlace)?

    /// Runs `body` while no other worker on the same place runs such a one, as far as the place can tell.
    func exclusively<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R
}

/// A store's place, which can be read as long as this is there: even when it has been moved away, or something is mounted over it.
package protocol HeldPlace: Sendable {
    /// The store's names still lead to it.
    var isCurrent: Bool { get }
    /// What lies in it.
    var names: [String] { get }

    /// Puts an object of it where the store's names lead now, with the same rights.
    ///
    /// - Parameter limit: Bytes it may take where it cannot have a second name.
    /// - Returns: Bytes that were copied; `nil` where it is not there or could not be put.
    func restore(_ name: String, limit: Int) -> Int?
}

extension SegmentStore {
    package func hold() -> (any HeldPlace)? { nil }

    /// A place where whatever is put is durable.
    package func synchronize(_ names: [String]) throws(MediaError) {}

    package func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: false)
    }

    package func size(of name: String) -> Int? { self.read(name)?.count }

    package func read(_ name: String, prefix: Int) -> [UInt8]? { self.read(name).map { Array($0.prefix(prefix)) } }

    package func keep(secret name: String, _ bytes: [UInt8]) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: true)
    }

    package func exclusively<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R { try body() }

    /// ``put(_:_:durable:)`` of bytes.
    func put(_ name: String, bytes: [UInt8], durable: Bool = false) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: durable)
    }
}
