extension PackedFrame {
    /// One plane of the frame below: `height` rows of `stride` bytes, of which `width` are samples.
    @safe
    public struct Target {
        public let samples: UnsafeMutableBufferPointer<UInt8>
        public let stride: Int
        public let width: Int
        public let height: Int

        public init(_ samples: UnsafeMutableBufferPointer<UInt8>, stride: Int, width: Int, height: Int) {
            unsafe self.samples = samples
            self.stride = stride
            self.width = width
            self.height = height
        }
    }

    /// Draws the frame over another one, as ``AlphaBlend`` draws the frame that it was packed from. Parts beyond the right
    /// and bottom edge are cut off. Does nothing if a plane is shorter than its size says. Does not allocate.
    ///
    /// - Parameters:
    ///   - luma: Plane of the frame below; `cb` and `cr` have half its width and height, rounded up.
    ///   - x: Left edge in samples of luma: even, not negative. `y`: the top edge in the same way.
    public func draw(onto luma: Target, _ cb: Target, _ cr: Target, x: Int, y: Int) {
        guard x >= 0, y >= 0, x < luma.width, y < luma.height, luma.isWhole, cb.isWhole, cr.isWhole,
            cr.width == cb.width, cr.height == cb.height,
            let lumaBase = unsafe luma.samples.baseAddress
        else { return }
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 160) { blocks in
            unsafe self.bytes.withUnsafeBufferPointer { bytes in
                guard let input = bytes.baseAddress, let alpha = blocks.baseAddress else { return }
                let samples = unsafe alpha + 64
                let (cbSamples, crSamples) = unsafe (alpha + 128, alpha + 144)
                let end = bytes.count &- Self.mostTileBytes
                var at = 0
                for line in 0..<min(self.height, luma.height &- y &+ 1) / 2 {
                    let top: Int = y &+ 2 &* line
                    let rows = min(2, luma.height &- top)
                    let chromaRow = y / 2 &+ line
                    var column = 0
                    while column < self.width {
                        // Every tile begins before `end`, and `mostTileBytes` bytes follow from there.
                        guard at < end else { return }
                        let kind = unsafe input[at]
                        if kind == Tile.clear {
                            let clear = unsafe Int(input[at &+ 1])
                            column &+= Self.tileWidth &* max(1, clear)
                            at &+= 2
                            continue
                        }
                        at &+= 1
                        if kind == Tile.mixed {
                            unsafe at &+= BlockPacking.unpack(input + at, 64, into: alpha)
                        }
                        unsafe at &+= BlockPacking.unpack(input + at, 64, into: samples)
                        unsafe at &+= BlockPacking.unpack(input + at, 16, into: cbSamples)
                        unsafe at &+= BlockPacking.unpack(input + at, 16, into: crSamples)
                        let size = min(Self.tileWidth, self.width &- column)
                        let columns = min(size, luma.width &- x &- column)
                        let chromaColumn: Int = (x &+ column) / 2
                        let chromaColumns = min(size / 2, cb.width &- chromaColumn)
                        if columns > 0 {
                            // Inside the plane: `columns` and `rows` were limited to it.
                            for row in 0..<rows {
                                let offset: Int = (top &+ row) &* luma.stride &+ x &+ column
                                let output = unsafe lumaBase + offset
                                let source = unsafe samples + row &* Self.tileWidth
                                if kind == Tile.mixed {
                                    unsafe AlphaBlend.drawRow(source, alpha + row &* Self.tileWidth, output, columns)
                                } else {
                                    unsafe output.update(from: source, count: columns)
                                }
                            }
                        }
                        if chromaColumns > 0, chromaRow < cb.height {
                            let shares: UnsafePointer<UInt8>? = kind == Tile.mixed ? unsafe UnsafePointer(alpha) : nil
                            // The last column and the last row of the frame have a rule of their own.
                            let width: Int = column &+ size < self.width ? size / 2 &+ 1 : size / 2
                            let isLast = line &+ 1 == self.height / 2
                            let height = isLast ? 1 : 2
                            unsafe cb.draw(
                                cbSamples, shares, row: chromaRow, chromaColumn, chromaColumns, width, height)
                            unsafe cr.draw(
                                crSamples, shares, row: chromaRow, chromaColumn, chromaColumns, width, height)
                        }
                        column &+= Self.tileWidth
                    }
                }
            }
        }
    }
}

extension PackedFrame.Target {
    /// Whether all rows lie inside the buffer.
    var isWhole: Bool {
        unsafe self.height > 0 && FrameBlend.rows(self.samples.count, self.stride, self.width) >= self.height
    }

    /// Draws one row of a tile's chroma.
    ///
    /// - Parameters:
    ///   - samples: 16 samples.
    ///   - alpha: The 64 alpha values of the tile; `nil`: it is opaque.
    ///   - columns: Number of samples that are drawn at `column`; with `column`, inside this plane.
    ///   - width: See ``AlphaBlend/drawHalved(_:_:onto:stride:width:height:columns:lines:)``. `height`: in the same way.
    fileprivate func draw(
        _ samples: UnsafePointer<UInt8>, _ alpha: UnsafePointer<UInt8>?, row: Int, _ column: Int, _ columns: Int,
        _ width: Int, _ height: Int
    ) {
        guard let base = unsafe self.samples.baseAddress else { return }
        let output = unsafe base + (row &* self.stride &+ column)
        guard let alpha = unsafe alpha else {
            unsafe output.update(from: samples, count: columns)
            return
        }
        unsafe AlphaBlend.drawHalved(
            FrameBlend.Plane(UnsafeBufferPointer(start: samples, count: 16), stride: 16),
            FrameBlend.Plane(UnsafeBufferPointer(start: alpha, count: 64), stride: PackedFrame.tileWidth),
            onto: UnsafeMutableBufferPointer(start: output, count: columns), stride: columns, width: width,
            height: height, columns: columns, lines: 1)
    }
}
