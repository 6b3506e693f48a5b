package import MediaTypes

/// The secret parts of an output's URL and of the URLs to which its server redirects: the stream name, with and without
/// query, and the values in the query that have at least four characters.
package struct URLSecrets: Sendable, Hashable {
    /// Minimum length of a query value that counts as a secret; shorter ones are too common to hide.
    private static let shortest = 4
    /// Maximum number of characters of a server's message that are searched for secrets, in addition to the length of a
    /// secret.
    private static let reach = 600
    private static let shown = 200

    /// Maximum number of redirect URLs that are remembered, the newest ones: a server may redirect every few seconds
    /// for the whole life of the room.
    private static let mostOthers = 8

    private let own: [String]
    private var others: [[String]] = []
    private var texts: [String]

    package init(_ url: RTMPURL) {
        self.own = Self.parts(of: url)
        self.texts = Self.sorted(self.own)
    }

    /// Adds a URL to which the server redirects.
    package mutating func add(_ url: RTMPURL) {
        self.others.append(Self.parts(of: url))
        if self.others.count > Self.mostOthers { self.others.removeFirst() }
        self.texts = Self.sorted(self.own + self.others.flatMap { $0 })
    }

    private static func parts(of url: RTMPURL) -> [String] {
        let name = url.streamName
        let query = name.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let values = query.split(separator: "&").compactMap { $0.split(separator: "=", maxSplits: 1).dropFirst().first }
        return [name, String(name.prefix { $0 != "?" })] + values.map(String.init).filter { $0.count >= self.shortest }
    }

    private static func sorted(_ parts: [String]) -> [String] {
        Set(parts).filter { !$0.isEmpty }
            // The longest first: hiding a part of a secret would leave the rest visible.
            .sorted { ($0.count, $0) > ($1.count, $1) }
    }

    /// Makes a server's message fit to show: short, printable, and without the secrets of the URL, which the server may
    /// repeat.
    package func presentable(_ reason: String) -> String {
        let longest = self.texts.map(\.unicodeScalars.count).max() ?? 0
        let scalars = reason.unicodeScalars.prefix(Self.reach + longest)
        var printable = Array(scalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
        // The end of the truncated text may be the beginning of a secret, which would not be found.
        if scalars.endIndex != reason.unicodeScalars.endIndex { printable.removeLast(self.begun(at: printable)) }
        var text = String(String.UnicodeScalarView(printable))
        for secret in self.texts {
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
        }
        return String(text.prefix(Self.shown))
    }

    /// Returns the number of scalars at the end of `text` that may be the beginning of a secret.
    private func begun(at text: [Unicode.Scalar]) -> Int {
        self.texts.reduce(0) { most, secret in
            let scalars = Array(secret.unicodeScalars)
            let counts = (0...min(scalars.count, text.count)).reversed()
            return max(most, counts.first { text.suffix($0).elementsEqual(scalars.prefix($0)) } ?? 0)
        }
    }
}
