package import LibAV
import MediaKernels
package import MediaTypes
import Packager
package import PipelineSpec
package import Upload

/// Makes the thumbnail sheets of an image output: one small still of the program per interval. Keeps the thumbnails of
/// at most one sheet in memory. Used by one thread.
package struct SpriteMaker: Sendable {
    private let output: ImageOutput
    private let sprites: ImageOutput.Sprites
    /// File name of the output's still, without extension.
    private let name: String
    private let store: DirectoryStore
    private let incarnation: Int64
    private var index: ThumbnailIndex?
    private var cells: [Int: Picture] = [:]
    private var sheet = ""
    private var size: (width: Int, height: Int)?
    private var shown: SpriteFiles

    /// Makes the maker; nil for an output without thumbnail sheets.
    package init?(_ output: ImageOutput, incarnation: Int64) {
        guard let sprites = output.sprites else { return nil }
        self.output = output
        self.sprites = sprites
        self.name = String(output.fileName.dropLast(4))
        self.store = DirectoryStore(directory: output.directory)
        self.incarnation = incarnation
        self.shown = SpriteFiles(store: self.store, indexName: "\(self.name).vtt", interval: sprites.intervalSeconds)
    }

    var outputID: String { self.output.outputID }
    /// Time between two thumbnails, in seconds.
    var interval: Int { self.sprites.intervalSeconds }
    private var indexName: String { self.shown.indexName }

    /// Adds a frame of the program to its sheet, and writes the sheet and the index again. Does nothing if the interval of
    /// the frame already has a thumbnail.
    ///
    /// - Parameters:
    ///   - time: Program time of the frame, in milliseconds.
    ///   - show: Receives the available files each time they have changed.
    /// - Returns: The files to upload to stores; nil if the interval already has a thumbnail.
    package mutating func take(
        _ picture: Picture, at time: Int64, show: (SpriteFiles) -> Void
    ) throws(MediaError) -> SpriteUpdate? {
        let size =
            self.size
            ?? ImageOutput.size(of: picture.format.width, picture.format.height, width: self.sprites.width)
        self.size = size
        if self.index == nil {
            try self.store.prepare()
            self.index = ThumbnailIndex(
                name: self.name, columns: self.sprites.columns, rows: self.sprites.rows, width: size.width,
                height: size.height, interval: Int64(self.sprites.intervalSeconds) * 1_000,
                incarnation: self.incarnation,
                kept: self.store.read(self.indexName).map { String(decoding: $0, as: UTF8.self) } ?? "")
            self.shown.files = [:]
            for sheet in self.index?.sheets ?? [] { self.shown.files[sheet] = self.store.size(of: sheet) }
            show(self.shown)
        }
        guard var index = self.index, let place = index.add(at: time) else { return nil }
        let cell = try SpriteSheet.cell(picture, width: size.width, height: size.height)
        if self.sheet != place.sheet {
            self.sheet = place.sheet
            self.cells = [:]
        }
        self.cells[place.cell] = cell
        let last = self.cells.keys.max() ?? 0
        // A missing thumbnail is replaced by the previous one.
        var latest = self.cells.min { $0.key < $1.key }?.value ?? cell
        let cells = (0...last).map { number in
            latest = self.cells[number] ?? latest
            return latest
        }
        let sheet = try SpriteSheet.sheet(cells, columns: self.sprites.columns, rows: self.sprites.rows)
        let bytes = try JPEGEncoder.jpeg(sheet, width: sheet.format.width, height: sheet.format.height)
        try self.store.put(place.sheet, [PacketMemory(bytes)], durable: false)
        // Shown before the index is written: a viewer that requests the sheet now must get its new size.
        self.shown.files[place.sheet] = bytes.count
        show(self.shown)
        let text = Array(index.text.utf8)
        try self.store.put(self.indexName, [PacketMemory(text)], durable: false)
        self.index = index
        let sheets = index.sheets
        let isFirst = self.shown.text.isEmpty
        self.shown.text = text
        var gone: [String] = []
        if self.shown.files.count > sheets.count + 1 {
            let named = Set(sheets)
            gone = self.shown.files.keys.filter { !named.contains($0) }
            for sheet in gone { self.shown.files[sheet] = nil }
        }
        show(self.shown)
        let files = self.shown.files
        // The first update also includes the sheets of earlier workers, which may not have been uploaded.
        return SpriteUpdate(
            index: self.indexName, text: text, directory: self.store.directory,
            changed: isFirst ? sheets.filter { files[$0] != nil } : [place.sheet], gone: gone, interval: self.interval)
    }

    /// All existing sheets that the index lists, for stores that may lack some of them after the end of the room; nil
    /// if there are none. Reads the disk.
    func left() -> SpriteUpdate? {
        guard let text = self.store.read(self.indexName) else { return nil }
        let index = ThumbnailIndex(
            name: self.name, columns: self.sprites.columns, rows: self.sprites.rows, width: 0, height: 0,
            interval: Int64(self.interval) * 1_000, incarnation: self.incarnation,
            kept: String(decoding: text, as: UTF8.self))
        let sheets = index.sheets.filter { self.store.contains($0) }
        guard !sheets.isEmpty else { return nil }
        return SpriteUpdate(
            index: self.indexName, text: text, directory: self.store.directory, changed: sheets,
            interval: self.interval)
    }
}
