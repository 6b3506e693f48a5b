/// A cache for the forms of one text. Each form is made once for all requests, as long as there is room.
///
/// A value that is protected by a lock. Forms that are not shared are made outside of it, because other requests would
/// wait.
package struct SharedVariants<Key: Hashable & Sendable, Form: Sendable>: Sendable {
    private let most: Int
    private let mostBytes: Int

    private var forms: [Key: Form] = [:]
    /// Bytes of forms that only some requests need.
    private var bytes = 0
    /// A form had no room: further forms are made for each request.
    private var isFull = false

    /// - Parameters:
    ///   - most: Most forms to share.
    ///   - mostBytes: Most bytes of forms that only some requests need.
    package init(most: Int, mostBytes: Int) {
        self.most = most
        self.mostBytes = mostBytes
    }

    /// - Parameters:
    ///   - isForAll: Every request may need the form: it is shared without a limit.
    ///   - make: Makes the form and returns it with its size in bytes; `nil` if it cannot be made.
    /// - Returns: `nil` for a form that is not shared: the caller makes it, outside the lock.
    package mutating func form(
        _ key: Key, isForAll: Bool, make: () -> (form: Form, bytes: Int)?
    ) -> Form? {
        if let known = self.forms[key] { return known }
        guard isForAll || self.forms.count < self.most && !self.isFull, let (form, bytes) = make() else { return nil }
        let size = isForAll ? 0 : bytes
        guard self.bytes + size <= self.mostBytes else {
            self.isFull = true
            return form
        }
        self.forms[key] = form
        self.bytes += size
        return form
    }
}
