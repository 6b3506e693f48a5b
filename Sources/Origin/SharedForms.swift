/// Forms of one text that are made once for all who ask, as long as there is room for them.
///
/// A value, held under a lock: what is not shared is not made in here, others would wait for it.
package struct SharedForms<Key: Hashable & Sendable, Form: Sendable>: Sendable {
    private let most: Int
    private let mostBytes: Int

    private var forms: [Key: Form] = [:]
    /// Of forms of a few.
    private var bytes = 0
    /// One had no room: the rest is made for each who asks.
    private var isFull = false

    /// - Parameters:
    ///   - most: Forms that are shared.
    ///   - mostBytes: Bytes of forms of a few that are shared.
    package init(most: Int, mostBytes: Int) {
        self.most = most
        self.mostBytes = mostBytes
    }

    /// - Parameters:
    ///   - isForAll: Everybody may ask for it: it is shared whatever there is.
    ///   - make: Makes it, and says how many bytes it has; `nil`: there is no such form.
    /// - Returns: `nil` for what is not shared: whoever asks makes it, outside of the lock.
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
