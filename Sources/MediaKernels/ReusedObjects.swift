/// The objects of one maker, used again once nobody else has them: in the long run nothing is taken from the heap for them.
///
/// An object is handed out → free, as soon as this has the only reference to it (``collect(_:)``) → handed out again
/// (``takeFree()``, ``handedOut(_:)``). Invariant: whoever empties or fills an object here does so while there is no other
/// reference to it, strong or weak, so nobody can get another one meanwhile.
///
/// No more than ``limit`` are looked after; those beyond, as when a reader lags far behind, are ordinary objects.
package struct ReusedObjects<Object: AnyObject>: ~Copyable {
    /// Objects that are looked after at most.
    package let limit: Int
    @usableFromInline
    var out: [Object]
    @usableFromInline
    var free: [Object]

    /// - Parameter limit: 1 or more; memory for as many references is taken at once.
    @inlinable
    package init(limit: Int) {
        self.limit = limit
        self.out = []
        self.free = []
        self.out.reserveCapacity(limit)
        self.free.reserveCapacity(limit)
    }

    /// Objects that are looked after.
    @inlinable
    package var count: Int { self.out.count + self.free.count }

    /// Frees those that nobody else has any more. O(*n*) in those that are out; no allocation.
    ///
    /// - Parameter empty: Gets each of them once, when it becomes free.
    @inlinable
    package mutating func collect(_ empty: (Object) -> Void) {
        var index = 0
        while index < self.out.count {
            guard isKnownUniquelyReferenced(&self.out[index]) else {
                index += 1
                continue
            }
            self.out.swapAt(index, self.out.count - 1)
            if let object = self.out.popLast() {
                empty(object)
                self.free.append(object)
            }
        }
    }

    /// A free object, which is the caller's to fill; `nil`: make one.
    @inlinable
    package mutating func takeFree() -> Object? { self.free.popLast() }

    /// Looks after an object that is filled, new or not, as long as there is room.
    @inlinable
    package mutating func handedOut(_ object: Object) {
        if self.count < self.limit { self.out.append(object) }
    }
}
