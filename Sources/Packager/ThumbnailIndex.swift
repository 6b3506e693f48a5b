import MediaTypes

/// An index of thumbnail sheets: the WebVTT file that players read for previews above the seek bar. It maps times to
/// the cells of image sheets. Times count from the start of the program, where an EVENT or VOD playlist begins.
///
/// A pure value. Thumbnails are numbered by their interval, so a later worker of the room continues the same file.
///
/// Spec: W3C WebVTT §4; Media Fragments URI 1.0 §4.2.2 (`#xywh=`).
package struct ThumbnailIndex: Sendable, Hashable {
    /// The sheet and the cell in which a new thumbnail is drawn.
    package struct Place: Sendable, Hashable {
        /// File name of the sheet.
        package let sheet: String
        /// Cell number in reading order.
        package let cell: Int
    }

    /// Maximum number of cues in the file: two days at an interval of 10 s. Older cues are removed; this value does not
    /// delete their sheets.
    private static let mostCues = 17_280

    private struct Cue: Sendable, Hashable {
        let number: Int64
        let payload: String
    }

    private let name: String
    private let columns: Int
    private let rows: Int
    private let width: Int
    private let height: Int
    /// Interval between two thumbnails in milliseconds.
    private let interval: Int64
    private let incarnation: Int64
    private var cues: [Cue] = []
    /// Whether a thumbnail has been added.
    private var isBegun = false

    /// Makes an index, which continues that of the previous worker.
    ///
    /// - Parameters:
    ///   - name: Prefix of the sheets' names.
    ///   - width: Cell width in pixels; `height` likewise.
    ///   - interval: Milliseconds from one thumbnail to the next; 1 or more.
    ///   - incarnation: Run number of the worker, which makes the sheet names of different workers distinct.
    ///   - kept: Text of the previous worker's index; unreadable lines are ignored.
    package init(
        name: String, columns: Int, rows: Int, width: Int, height: Int, interval: Int64, incarnation: Int64,
        kept: String = ""
    ) {
        self.name = name
        self.columns = max(1, columns)
        self.rows = max(1, rows)
        self.width = width
        self.height = height
        self.interval = max(1, interval)
        self.incarnation = incarnation
        var start: Int64?
        for line in kept.split(separator: "\n", omittingEmptySubsequences: false) {
            if let arrow = line.firstRange(of: " --> ") {
                start = Self.milliseconds(line[..<arrow.lowerBound])
            } else if let time = start {
                if Self.isCue(line, of: name), self.cues.last.map({ $0.number < time / self.interval }) ?? true {
                    self.cues.append(Cue(number: time / self.interval, payload: String(line)))
                }
                start = nil
            }
        }
    }

    /// Whether a cue line refers to a sheet of this index; other text is never used as a file name.
    private static func isCue(_ line: Substring, of name: String) -> Bool {
        guard let mark = line.firstRange(of: ".jpg#xywh="), line.hasPrefix("\(name)-") else { return false }
        return line[..<mark.lowerBound].dropFirst(name.utf8.count + 1).utf8.allSatisfy {
            $0.isDigit || $0 == UInt8(ascii: "-")
        }
    }

    package var cellCount: Int { self.columns * self.rows }

    /// Names of the referenced sheets, oldest first.
    package var sheets: [String] {
        var names: [String] = []
        for cue in self.cues {
            let name = String(cue.payload.prefix { $0 != "#" })
            if names.last != name { names.append(name) }
        }
        return names
    }

    /// Adds a thumbnail of the program.
    ///
    /// - Parameter time: Milliseconds since the start of the program.
    /// - Returns: Where to draw the thumbnail; `nil` if its interval or a later one already has one.
    package mutating func add(at time: Int64) -> Place? {
        let number = max(0, time) / self.interval
        // A later worker never begins before the previous one ended. So an index that is ahead belongs to an ended room
        // in whose directory a new one begins.
        if !self.isBegun, let last = self.cues.last, last.number > number { self.cues = [] }
        self.isBegun = true
        if let last = self.cues.last, last.number >= number { return nil }
        let (sheet, cell) = (number / Int64(self.cellCount), Int(number % Int64(self.cellCount)))
        let place = Place(sheet: "\(self.name)-\(self.incarnation)-\(sheet).jpg", cell: cell)
        let (x, y) = (cell % self.columns * self.width, cell / self.columns * self.height)
        self.cues.append(
            Cue(number: number, payload: "\(place.sheet)#xywh=\(x),\(y),\(self.width),\(self.height)"))
        if self.cues.count > Self.mostCues { self.cues.removeFirst(self.cues.count - Self.mostCues) }
        return place
    }

    /// The text of the WebVTT file. A thumbnail is shown until the next one begins, even if some are missing in
    /// between.
    package var text: String {
        var text = "WEBVTT\n"
        for (index, cue) in self.cues.enumerated() {
            let end = self.cues.indices.contains(index + 1) ? self.cues[index + 1].number : cue.number + 1
            text +=
                "\n\((cue.number * self.interval).clockText) --> \((end * self.interval).clockText)\n\(cue.payload)\n"
        }
        return text
    }

    /// Parses a WebVTT timestamp into milliseconds; `nil` if it is not valid. Hours may have more than two digits.
    private static func milliseconds(_ text: Substring) -> Int64? {
        let parts = text.split(whereSeparator: { $0 == ":" || $0 == "." }).map { Int64($0) }
        guard parts.count == 4, let hours = parts[0], let minutes = parts[1], let seconds = parts[2],
            let rest = parts[3], (0..<1_000_000).contains(hours), (0..<60).contains(minutes),
            (0..<60).contains(seconds), (0..<1_000).contains(rest)
        else { return nil }
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + rest
    }
}
