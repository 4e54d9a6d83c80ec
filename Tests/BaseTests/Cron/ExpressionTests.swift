import Testing

@testable import Base

@Suite("Cron expressions") struct ExpressionTests {
  /// A wrong expression, the offset of the error, and the message.
  static let wrong: [(String, Int, String)] = [
    ("", 0, "0 fields; expected 5: minute, hour, day of the month, month, day of the week"),
    ("0 8 * *", 0, "4 fields; expected 5: minute, hour, day of the month, month, day of the week"),
    (
      "0 0 8 * * 1", 10,
      "6 fields; expected 5: minute, hour, day of the month, month, day of the week"
    ),
    ("@daily", 0, "\"@daily\"; expected five fields, such as 0 8 * * MON-FRI"),
    ("0 8 * * 5-0", 8, "the backward range \"5-0\"; expected two ranges: 5-7,0-0"),
    (
      "0 8 * * 1,\u{17f}un", 10,
      "\"\u{17f}un\"; expected a day of the week from 0 to 7, or SUN to SAT"
    ),
    ("0 8 15W * *", 4, "\"15W\"; expected a day of the month from 1 to 31"),
    ("e\u{301} 8 * * *", 0, "\"e\u{301}\"; expected a minute from 0 to 59"),
    (
      "e\u{301} 0 8 * * 1", 11,
      "6 fields; expected 5: minute, hour, day of the month, month, day of the week"
    ),
    ("60 * * * *", 0, "\"60\"; expected a minute from 0 to 59"),
    ("0 24 * * *", 2, "\"24\"; expected an hour from 0 to 23"),
    ("0 8 0 * *", 4, "\"0\"; expected a day of the month from 1 to 31"),
    ("0 8 * 13 *", 6, "\"13\"; expected a month from 1 to 12, or JAN to DEC"),
    ("0 8 * * 8", 8, "\"8\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("0 8 * * MONDAY", 8, "\"MONDAY\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("0 8 L * *", 4, "\"L\"; expected a day of the month from 1 to 31"),
    ("0 8 * * 1#2", 8, "\"1#2\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("0 8 ? * *", 4, "\"?\"; expected a day of the month from 1 to 31"),
    ("*/0 * * * *", 2, "\"0\"; expected a step from 1 to 60"),
    ("*/61 * * * *", 2, "\"61\"; expected a step from 1 to 60"),
    ("*/ * * * *", 2, "\"\"; expected a step from 1 to 60"),
    ("1,,2 * * * *", 2, "nothing as a minute; expected a minute from 0 to 59"),
    ("1- * * * *", 2, "nothing as a minute; expected a minute from 0 to 59"),
    ("-1 * * * *", 0, "nothing as a minute; expected a minute from 0 to 59"),
    ("0 22-6 * * *", 2, "the backward range \"22-6\"; expected two ranges: 22-23,0-6"),
    ("0 8 * * +1", 8, "\"+1\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("٣ * * * *", 0, "\"٣\"; expected a minute from 0 to 59"),
    (
      "0 8 30 2 *", 4,
      "days that do not come within eight years; expected a day of the month that its months have"
    ),
    (
      "0 8 31 4,6,9,11 *", 4,
      "days that do not come within eight years; expected a day of the month that its months have"
    ),
    (
      "0 8 29 2 */5", 4,
      "days that do not come within eight years; expected a day of the month that its months have"
    ),
  ]

  @Test(arguments: wrong.indices)
  func `a wrong one is refused with its offset`(index: Int) {
    let (text, offset, message) = Self.wrong[index]
    do {
      _ = try CronSchedule(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(error.offset == offset)
      #expect("\(error.found); expected \(error.expected)" == message)
    }
  }

  /// The first of February on a given day of the week may be 12 years after the previous one.
  @Test(arguments: Array(0...6).map { "0 0 */31 2 \($0)" } + ["0 0 29 2 */5,1,3,6"])
  func `an expression that may wait more than eight years is refused, whatever the year`(
    text: String
  ) {
    #expect {
      try CronSchedule(text)
    } throws: {
      ($0 as? CronError)?.found == "days that do not come within eight years"
    }
  }

  @Test(arguments: [
    ("0 8 * * SUN-SUN", "0 8 * * 7"), ("0 8 * * FRI-SUN", "0 8 * * 0,5,6"),
    ("0 8 * * 5-7", "0 8 * * SUN,fri,Sat"), ("5/15 * * jan-MAR *", "5,20,35,50 * * 1-3 *"),
    ("1-30/7 */9 * * 6/1", "1,8,15,22,29 0,9,18 * * SAT-SUN"), ("0 8 * * 0-7", "0 8 * * SUN-SAT"),
  ])
  func `names, steps and Sundays mean numbers`(text: String, numbers: String) throws {
    let left = try CronSchedule(text).fields
    let right = try CronSchedule(numbers).fields
    #expect(
      [left.minutes, left.hours, left.daysOfMonth, left.months, left.daysOfWeek]
        == [right.minutes, right.hours, right.daysOfMonth, right.months, right.daysOfWeek])
  }

  @Test(arguments: [
    "0 8 29 2 *", "0 8 29 2 *,1", "0 0 31 * MON", "0 8 * * SUN-SUN", "0 8 * * sat-SUN",
    "0 0 30 2 MON", " 0  8 *\t* mon-Fri ", "5/15 * * * FRI-SUN",
    "0 0 1 1 7", "59 23 31 12 5-7", "*/60 * * * *",
  ])
  func `a right one is taken`(text: String) throws {
    _ = try CronSchedule(text)
  }
}
