/// Finds what somebody meant to write.
package enum NearestName {
    /// The name with the fewest edits from `name`, if that is at most half of its letters.
    package static func of(_ name: String, in known: [String]) -> String? {
        // Beyond any real name a distance costs time and says nothing.
        guard name.utf8.count <= 64 else { return nil }
        let scored = known.map {
            (name: $0, distance: Self.distance(Array(name.lowercased().utf8), Array($0.lowercased().utf8)))
        }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.name.utf8.count / 2) ? best.name : nil
    }

    /// Insertions, deletions and replacements that turn one into the other.
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (leftIndex, leftByte) in left.enumerated() {
            var diagonal = leftIndex
            row[0] = leftIndex + 1
            for (rightIndex, rightByte) in right.enumerated() {
                let replaced = diagonal + (leftByte == rightByte ? 0 : 1)
                diagonal = row[rightIndex + 1]
                row[rightIndex + 1] = min(replaced, row[rightIndex + 1] + 1, row[rightIndex] + 1)
            }
        }
        return row[right.count]
    }
}
