/// A cache for the forms of one text. Each form is made once for all requests, until the cache is full.
///
/// The caller protects this value with a lock. Forms that are not cached are made outside the lock, because other
/// requests would wait.
package struct SharedVariants<Key: Hashable & Sendable, Form: Sendable>: Sendable {
    private let most: Int
    private let mostBytes: Int

    private var forms: [Key: Form] = [:]
    /// Total size in bytes of the cached forms that only some requests need.
    private var bytes = 0
    /// Whether a form did not fit: further forms are made for each request.
    private var isFull = false

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - most: Maximum number of cached forms, beyond which only forms that every request may need are cached.
    ///   - mostBytes: Maximum total size in bytes of the cached forms that only some requests need.
    package init(most: Int, mostBytes: Int) {
        self.most = most
        self.mostBytes = mostBytes
    }

    /// Returns a form from the cache, or makes and caches it.
    ///
    /// - Parameters:
    ///   - isForAll: Whether every request may need the form: then it is cached regardless of the limits.
    ///   - make: Makes the form and returns it with its size in bytes; `nil` if it cannot be made.
    /// - Returns: `nil` if the form is not cached, and the caller makes it outside the lock; also if `make` returns
    ///   `nil`.
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
