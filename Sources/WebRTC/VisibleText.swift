import MediaTypes

extension StringProtocol {
    /// The first visible ASCII characters of a client's text, at most `most`, for messages and logs.
    func visible(_ most: Int) -> String {
        String(decoding: self.utf8.lazy.filter(\.isVisible).prefix(most), as: UTF8.self)
    }
}
