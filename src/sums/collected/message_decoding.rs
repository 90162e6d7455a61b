//! Decoding of the messages of sum tasks.

use alloc::vec::Vec;

use crate::codec::Cursor;
use crate::error::Error;
use crate::sums::messages::Message;
use crate::sums::summed_quantity::SummedQuantity;
use crate::sums::task::SumTask;
use crate::upload::EncodedUpload;

impl Message {
    /// Reads the next message about a quantity whose largest message code is `largest`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes do not begin with such a message.
    fn read_message(
        cursor: &mut Cursor<'_>,
        quantity: &SummedQuantity,
        largest: u32,
    ) -> Result<Self, Error> {
        let code: u32 = cursor.read_value("expected a message")?;
        if code > largest {
            return Err(
                cursor.malformed_error("expected a message about a coordinate or cell of the task")
            );
        }
        Ok(match (quantity.counted_questions(), code.checked_sub(1)) {
            (Some(_), Some(cell)) => Self::Cell(cell),
            _ => Self::from_step_code(code),
        })
    }
}

impl SumTask {
    /// Reads the message at the start of `bytes`. Returns the message and its length in bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes do not begin with a message of the task.
    pub fn decode_first_message(&self, bytes: &[u8]) -> Result<(Message, usize), Error> {
        let mut cursor = Cursor::new("message", bytes);
        let quantity = self.summed_quantity();
        let largest = quantity.largest_message_code();
        let message = Message::read_message(&mut cursor, quantity, largest)?;
        Ok((message, cursor.offset()))
    }

    /// Decodes the messages that an upload contains in place of reports. An analyser stores
    /// messages in this form after it has decrypted them.
    ///
    /// ```
    /// # use hushbin::sample::Threshold;
    /// # use hushbin::sums::{SummedQuantity, Message, UnitStepParameters, SumTaskFields, SumTask};
    /// # use hushbin::task::{ReportBudget, NumberLimits};
    /// # use hushbin::UploadId;
    /// # use hushbin::upload::EncodedUpload;
    /// # let parts = SumTaskFields {
    /// #     id: "timings".into(),
    /// #     summed_quantity: SummedQuantity::from_numbers(vec!["load".into()], vec![NumberLimits::new(0.0, 10.0, None)?])?,
    /// #     central_epsilon: 1.0, delta: 1e-6, min_people: 10_000, honest_fraction: 0.9,
    /// #     report_budget: ReportBudget::default(),
    /// # };
    /// # let task = SumTask::new(parts, UnitStepParameters::new(8, 1, 1, Threshold(1 << 55), 2)?)?;
    /// let upload = EncodedUpload { id: UploadId([9; 16]), report_count: 2, encoded_reports: &[0, 2] };
    /// let down = Message::SignedUnitStep { coordinate: 0, negative: true };
    /// assert_eq!(task.decode_messages(&upload)?, [Message::Blank, down]);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Malformed`] unless the upload contains exactly `report_count` messages of the task.
    pub fn decode_messages(&self, upload: &EncodedUpload<'_>) -> Result<Vec<Message>, Error> {
        let mut cursor = Cursor::new("upload", upload.encoded_reports);
        let quantity = self.summed_quantity();
        let largest = quantity.largest_message_code();
        let messages =
            (0..upload.report_count).map(|_| Message::read_message(&mut cursor, quantity, largest));
        let messages = messages.collect::<Result<_, _>>()?;
        cursor.expect_end("expected the end after the last message")?;
        Ok(messages)
    }
}
