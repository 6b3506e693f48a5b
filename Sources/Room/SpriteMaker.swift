package import LibAV
import MediaKernels
package import MediaTypes
package import Packager
package import PipelineSpec
import Synchronization
package import Upload

/// Makes the sheets of an image output: one small still of the program an interval, at most a sheet of them in memory.
package final class SpriteMaker: Sendable {
    private struct State {
        var index: SpriteIndex?
        var cells: [Int: Picture] = [:]
        var sheet = ""
        var size: (width: Int, height: Int)?
    }

    /// What viewers may have. Apart from the rest, which is held while a sheet is encoded and a disk may hang.
    private struct Shown {
        /// Sheets and their sizes.
        var files: [String: Int] = [:]
        var text: [UInt8] = []
    }

    private let output: ImageOutput
    private let sprites: ImageOutput.Sprites
    /// Of the still, without its ending.
    private let name: String
    private let store: DirectoryStore
    private let incarnation: Int64
    private let state = Mutex(State())
    private let shown = Mutex(Shown())

    /// - Returns: `nil` for an output that has none.
    package init?(_ output: ImageOutput, incarnation: Int64) {
        guard let sprites = output.sprites else { return nil }
        let parts = output.path.split(separator: "/", omittingEmptySubsequences: false)
        self.output = output
        self.sprites = sprites
        self.name = String((parts.last ?? "").dropLast(4))
        self.store = DirectoryStore(directory: parts.count < 2 ? "." : parts.dropLast().joined(separator: "/") + "/")
        self.incarnation = incarnation
    }

    var outputID: String { self.output.outputID }
    /// Seconds.
    var interval: Int { self.sprites.intervalSeconds }
    private var indexName: String { "\(self.name).vtt" }

    /// Takes a picture of the program into its sheet, and writes both files anew.
    ///
    /// - Parameter time: Milliseconds since the program's beginning.
    /// - Returns: What stores are to have of it; `nil` where its time has a picture already.
    package func take(_ picture: Picture, at time: Int64) throws(MediaError) -> SpriteUpdate? {
        let result = self.state.withLock { state in
            Result { () throws(MediaError) in try self.take(picture, at: time, &state) }
        }
        return try result.get()
    }

    private func take(_ picture: Picture, at time: Int64, _ state: inout State) throws(MediaError) -> SpriteUpdate? {
        let size =
            state.size
            ?? ImageOutput.size(of: picture.format.width, picture.format.height, width: self.sprites.width)
        state.size = size
        if state.index == nil {
            try self.store.prepare()
            state.index = SpriteIndex(
                name: self.name, columns: self.sprites.columns, rows: self.sprites.rows, width: size.width,
                height: size.height, interval: Int64(self.sprites.intervalSeconds) * 1_000,
                incarnation: self.incarnation,
                kept: self.store.read(self.indexName).map { String(decoding: $0, as: UTF8.self) } ?? "")
            var files: [String: Int] = [:]
            for sheet in state.index?.sheets ?? [] { files[sheet] = self.store.size(of: sheet) }
            self.shown.withLock { [files] in $0.files = files }
        }
        guard var index = state.index, let place = index.add(at: time) else { return nil }
        let cell = try SpriteSheet.cell(picture, width: size.width, height: size.height)
        if state.sheet != place.sheet {
            state.sheet = place.sheet
            state.cells = [:]
        }
        state.cells[place.cell] = cell
        let last = state.cells.keys.max() ?? 0
        // Where one was left out the one before stands in its place.
        var shown = state.cells.min { $0.key < $1.key }?.value ?? cell
        let cells = (0...last).map { number in
            shown = state.cells[number] ?? shown
            return shown
        }
        let sheet = try SpriteSheet.sheet(cells, columns: self.sprites.columns, rows: self.sprites.rows)
        let bytes = try StillEncoder.jpeg(sheet, width: sheet.format.width, height: sheet.format.height)
        try self.store.put(place.sheet, [PacketMemory(bytes)], durable: false)
        // At once, whatever becomes of the index: whoever asks for the sheet gets as many bytes of it.
        self.shown.withLock { $0.files[place.sheet] = bytes.count }
        let text = Array(index.text.utf8)
        try self.store.put(self.indexName, [PacketMemory(text)], durable: false)
        state.index = index
        let sheets = index.sheets
        let (isFirst, files, gone) = self.shown.withLock { shown in
            let isFirst = shown.text.isEmpty
            shown.text = text
            var gone: [String] = []
            if shown.files.count > sheets.count + 1 {
                let named = Set(sheets)
                gone = shown.files.keys.filter { !named.contains($0) }
                for sheet in gone { shown.files[sheet] = nil }
            }
            return (isFirst, shown.files, gone)
        }
        // The first time those of the workers before, too: who knows how far they got.
        return SpriteUpdate(
            index: self.indexName, text: text, directory: self.store.directory,
            changed: isFirst ? sheets.filter { files[$0] != nil } : [place.sheet], gone: gone, interval: self.interval)
    }

    /// All that lies beside the index and that it names, for stores that may lack some of a room that is over; `nil` where there
    /// is nothing. Reads the disk.
    func left() -> SpriteUpdate? {
        guard let text = self.store.read(self.indexName) else { return nil }
        let index = SpriteIndex(
            name: self.name, columns: self.sprites.columns, rows: self.sprites.rows, width: 0, height: 0,
            interval: Int64(self.interval) * 1_000, incarnation: self.incarnation,
            kept: String(decoding: text, as: UTF8.self))
        let sheets = index.sheets.filter { self.store.contains($0) }
        guard !sheets.isEmpty else { return nil }
        return SpriteUpdate(
            index: self.indexName, text: text, directory: self.store.directory, changed: sheets,
            interval: self.interval)
    }

    /// What viewers may have.
    package func object(named name: String) -> PublishedObject? {
        self.shown.withLock { shown in
            let caching = "max-age=\(self.sprites.intervalSeconds)"
            if name == self.indexName, !shown.text.isEmpty {
                return PublishedObject(body: .bytes(shown.text), contentType: "text/vtt", cacheControl: caching)
            }
            guard let size = shown.files[name], let path = self.store.path(of: name) else { return nil }
            return PublishedObject(
                body: .file(path: path, size: size), contentType: "image/jpeg", cacheControl: caching)
        }
    }
}
