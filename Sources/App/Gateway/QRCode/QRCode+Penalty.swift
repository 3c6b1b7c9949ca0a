extension QRCode {
    /// How hard the code is to read: long runs, blocks, patterns that look like finders, and an imbalance of dark and light
    /// (ISO/IEC 18004, section 7.8.3). The mask with the lowest penalty is used.
    var penalty: Int {
        var penalty = 0
        for index in 0..<size {
            penalty += Self.penalty(of: (0..<size).map { isDark($0, index) })
            penalty += Self.penalty(of: (0..<size).map { isDark(index, $0) })
        }
        for row in 0..<size - 1 {
            for column in 0..<size - 1 {
                let one = isDark(column, row)
                if one == isDark(column + 1, row), one == isDark(column, row + 1), one == isDark(column + 1, row + 1) {
                    penalty += 3
                }
            }
        }
        let percentage = dark.count { $0 } * 100 / dark.count
        return penalty + abs(percentage - 50) / 5 * 10
    }

    /// The penalty of one row or column.
    private static func penalty(of line: [Bool]) -> Int {
        var penalty = 0
        var run = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
        }
        for start in 0...line.count - 11 {
            let part = line[start..<start + 11]
            if part.elementsEqual(finder) || part.elementsEqual(finder.reversed()) { penalty += 40 }
        }
        return penalty
    }

    /// A line through a finder, with its border on one side.
    private static let finder = [true, false, true, true, true, false, true, false, false, false, false]
}
