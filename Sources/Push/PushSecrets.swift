package import MediaTypes

/// What of an output's URL must not be seen: its stream name, with and without query, and the values in the query.
package struct PushSecrets: Sendable, Hashable {
    /// Values in a query that are shorter say nothing.
    private static let shortest = 4
    /// Characters of a reason that are looked at, besides those of a secret, and that are shown.
    private static let reach = 600
    private static let shown = 200

    /// Of those URLs that it was sent on to the newest are remembered: a server may send it on every few seconds for as long as the
    /// room lives.
    private static let mostOthers = 8

    private let own: [String]
    private var others: [[String]] = []
    private var texts: [String]

    package init(_ url: RTMPURL) {
        self.own = Self.parts(of: url)
        self.texts = Self.sorted(self.own)
    }

    /// It is sent on to another URL.
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
            // The longest first: a part of it that was hidden would leave the rest.
            .sorted { ($0.count, $0) > ($1.count, $1) }
    }

    /// A far side's words: short, printable, and without what it may repeat.
    package func presentable(_ reason: String) -> String {
        let longest = self.texts.map(\.unicodeScalars.count).max() ?? 0
        let scalars = reason.unicodeScalars.prefix(Self.reach + longest)
        var printable = Array(scalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
        // What lies at the cut may be the beginning of a secret, which is not found as one.
        if scalars.endIndex != reason.unicodeScalars.endIndex { printable.removeLast(self.begun(at: printable)) }
        var text = String(String.UnicodeScalarView(printable))
        for secret in self.texts {
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
        }
        return String(text.prefix(Self.shown))
    }

    /// How many of a text's last scalars a secret may begin with.
    private func begun(at text: [Unicode.Scalar]) -> Int {
        self.texts.reduce(0) { most, secret in
            let scalars = Array(secret.unicodeScalars)
            let counts = (0...min(scalars.count, text.count)).reversed()
            return max(most, counts.first { text.suffix($0).elementsEqual(scalars.prefix($0)) } ?? 0)
        }
    }
}
