/// The K-weighted mean square of ITU-R BS.1770-4, one filter after the other, in double precision.
struct PlainMeter {
    private var memory = [[Double]](repeating: [0, 0, 0, 0], count: 2)

    mutating func measured(_ audio: [Float]) -> Float {
        var total = 0.0
        for channel in 0..<2 {
            var state = self.memory[channel]
            for index in stride(from: channel, to: audio.count, by: 2) {
                let x = Double(audio[index])
                let y = 1.53512485958697 * x + state[0]
                state[0] = -2.69169618940638 * x + 1.69065929318241 * y + state[1]
                state[1] = 1.19839281085285 * x - 0.73248077421585 * y
                let z = y + state[2]
                state[2] = -2 * y + 1.99004745483398 * z + state[3]
                state[3] = y - 0.99007225036621 * z
                total += z * z
            }
            self.memory[channel] = state
        }
        return Float(total / Double(audio.count / 2))
    }
}
